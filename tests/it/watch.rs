//! The cases of `tests/cases/watch/`: files change under running servers, and every answer follows.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use serde_json::{Value, json};

use crate::docs_tools::DocsServer;
use crate::program::PATIENCE;
use crate::{folder, program};

/// How often a search is repeated while it waits for its paths.
const PAUSE: Duration = Duration::from_millis(20);

#[test]
fn cases() {
    let mut failures = Vec::new();
    for (name, case) in folder::cases("watch") {
        for _ in 0..case["repeat"].as_u64().unwrap_or(1) {
            let mut stage = Stage::set(&case);
            let steps = case["steps"].as_array().expect("steps");
            let failed = steps.iter().find_map(|step| {
                stage.run(step).err().map(|fault| format!("{name}: {step}: {fault}"))
            });
            failures
                .extend(failed.or_else(|| stage.end().err().map(|why| format!("{name}: {why}"))));
        }
    }
    folder::report(&failures);
}

/// The name under which a case's own server runs.
const MAIN: &str = "";

/// A folder with servers that follow it.
struct Stage {
    folder: tempfile::TempDir,
    args: Vec<String>,
    servers: BTreeMap<String, DocsServer>,
    remembered: BTreeMap<String, Value>,
    /// Servers that were given no watches and have to say so.
    unwatched: BTreeSet<String>,
}

impl Stage {
    fn set(case: &Value) -> Self {
        let fresh = tempfile::tempdir().expect("a temporary folder");
        folder::make(fresh.path(), &case["tree"]);
        let mut args: Vec<String> = ["--docs", "docs", "--index", "idx"].map(str::to_owned).into();
        let extra = case["args_extra"].as_array().into_iter().flatten().filter_map(Value::as_str);
        args.extend(extra.map(str::to_owned));
        let mut stage = Self {
            folder: fresh,
            args,
            servers: BTreeMap::new(),
            remembered: BTreeMap::new(),
            unwatched: BTreeSet::new(),
        };
        let starts_its_own = |step: &Value| step["op"] == "start";
        if !case["steps"].as_array().is_some_and(|steps| steps.iter().any(starts_its_own)) {
            stage.start(MAIN, None);
        }
        stage
    }

    fn start(&mut self, name: &str, watches: Option<u64>) {
        let mut server = match watches {
            Some(most) if can_limit_watches() => {
                let script =
                    format!("echo {most} > /proc/sys/user/max_inotify_watches && exec \"$@\"");
                self.unwatched.insert(name.to_owned());
                let mut command = program::command_through(
                    &["unshare", "--user", "--map-root-user", "sh", "-c", &script, "sh"],
                    self.folder.path(),
                );
                command.args(&self.args);
                DocsServer::start_command(command, self.folder.path())
            }
            Some(_) => {
                let mut args = self.args.clone();
                args.extend(["--watch", "poll"].map(str::to_owned));
                DocsServer::start_with(self.folder.path(), &args)
            }
            None => DocsServer::start_with(self.folder.path(), &self.args),
        };
        // A client waits for its first answer before its user edits anything.
        server.call("docs_outline", &json!({}));
        self.servers.insert(name.to_owned(), server);
    }

    fn run(&mut self, step: &Value) -> Result<(), String> {
        let name = |key: &str| step[key].as_str().unwrap_or(MAIN).to_owned();
        match step["op"].as_str().expect("an operation") {
            "start" => {
                let watches = step["env_limits"]["inotify_max_user_watches"].as_u64();
                self.start(&name("as"), watches);
                Ok(())
            }
            // Dropping a program kills it.
            "kill9" => {
                self.servers.remove(&name("server"));
                Ok(())
            }
            "search" | "search_on" | "search_count" => self.search(&name("server"), step),
            "remember" => {
                let results = self.results(MAIN, step);
                self.remembered.insert(name("as"), results);
                Ok(())
            }
            "same" => self.same(&name("as"), step),
            "settle" => {
                self.settle(number(step, "ms"));
                Ok(())
            }
            "restart_fresh_index" => {
                self.servers.remove(MAIN).expect("a server").finish();
                let _ = fs::remove_dir_all(self.folder.path().join("idx"));
                self.start(MAIN, None);
                Ok(())
            }
            "run" => {
                let output = reindex(self.folder.path(), step).wait_with_output().expect("it ends");
                let wanted = step["exit_code"].as_i64().unwrap_or_default();
                if output.status.code().map(i64::from) == Some(wanted) {
                    Ok(())
                } else {
                    Err(said(&output))
                }
            }
            "run_both" => {
                let both = [reindex(self.folder.path(), step), reindex(self.folder.path(), step)];
                let ends = both.map(|child| child.wait_with_output().expect("it ends"));
                let is_fine = |end: &Output| end.status.success();
                let has_reason =
                    |end: &Output| end.status.code() == Some(2) && !end.stderr.is_empty();
                if ends.iter().any(is_fine)
                    && ends.iter().all(|end| is_fine(end) || has_reason(end))
                {
                    Ok(())
                } else {
                    Err(ends.iter().map(said).collect())
                }
            }
            "loop" => {
                for _ in 0..number(step, "times") {
                    self.run_all(step)?;
                }
                Ok(())
            }
            "parallel" => {
                let steps = step["steps"].as_array().expect("steps");
                let root = self.folder.path();
                thread::scope(|scope| {
                    for step in steps {
                        scope.spawn(move || change(root, step));
                    }
                });
                Ok(())
            }
            _ => {
                change(self.folder.path(), step);
                Ok(())
            }
        }
    }

    fn run_all(&mut self, step: &Value) -> Result<(), String> {
        step["steps"].as_array().expect("steps").iter().try_for_each(|step| self.run(step))
    }

    fn results(&mut self, server: &str, step: &Value) -> Value {
        let server = self.servers.get_mut(server).expect("a running server");
        let query = json!({ "query": step["query"], "limit": 25 });
        server.call("docs_search", &query).value["results"].take()
    }

    /// Repeats a search until its paths are right.
    fn search(&mut self, server: &str, step: &Value) -> Result<(), String> {
        let within = step["within_ms"].as_u64().map_or(PATIENCE, Duration::from_millis);
        let deadline = Instant::now() + within;
        let wanted: Option<BTreeSet<&str>> = step["paths"]
            .as_array()
            .map(|paths| paths.iter().map(|path| path.as_str().expect("a path")).collect());
        loop {
            let results = self.results(server, step);
            let results = results.as_array().expect("results");
            let seen: BTreeSet<&str> =
                results.iter().map(|hit| hit["path"].as_str().expect("a path")).collect();
            let is_right = wanted.as_ref().map_or_else(
                || step["count"].as_u64() == Some(results.len() as u64),
                |wanted| *wanted == seen,
            );
            if is_right {
                return Ok(());
            }
            if Instant::now() > deadline {
                return Err(format!("after {within:?} it finds {seen:?}"));
            }
            thread::sleep(PAUSE);
        }
    }

    fn same(&mut self, name: &str, step: &Value) -> Result<(), String> {
        let now = self.results(MAIN, step);
        let fields: Vec<&str> =
            step["compare"].as_array().expect("fields").iter().filter_map(Value::as_str).collect();
        let only = |results: &Value| -> Vec<Vec<Value>> {
            let hits = results.as_array().expect("results").iter();
            hits.map(|hit| fields.iter().map(|field| hit[*field].clone()).collect()).collect()
        };
        let (before, now) = (only(&self.remembered[name]), only(&now));
        if before == now { Ok(()) } else { Err(format!("{before:?} has become {now:?}")) }
    }

    /// Waits until the generation has been the same for a while.
    fn settle(&mut self, most_ms: u64) {
        const CALM: Duration = Duration::from_millis(400);
        let start = Instant::now();
        let (mut seen, mut since) = (Value::Null, start);
        while since.elapsed() < CALM && start.elapsed() < Duration::from_millis(most_ms) {
            let server = self.servers.get_mut(MAIN).expect("a server");
            let now = server.call("docs_outline", &json!({})).value["generation"].take();
            if now != seen {
                (seen, since) = (now, Instant::now());
            }
            thread::sleep(PAUSE);
        }
    }

    /// All servers end as they should, and have said what they had to say.
    fn end(self) -> Result<(), String> {
        for (name, server) in self.servers {
            let stderr = server.finish();
            let n_said = stderr.matches("changes are not announced").count();
            if n_said != usize::from(self.unwatched.contains(&name)) {
                return Err(format!("server {name} said: {stderr}"));
            }
        }
        Ok(())
    }
}

/// Whether this user may make a namespace whose watches are limited.
fn can_limit_watches() -> bool {
    let script = "echo 0 > /proc/sys/user/max_inotify_watches";
    let status = Command::new("unshare")
        .args(["--user", "--map-root-user", "sh", "-c", script])
        .stderr(Stdio::null())
        .status();
    status.is_ok_and(|status| status.success())
}

fn reindex(folder: &Path, step: &Value) -> std::process::Child {
    let args = step["args"].as_array().expect("arguments").iter().filter_map(Value::as_str);
    let mut command = program::command(folder);
    command.args(args).current_dir(folder).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("it starts")
}

fn said(output: &Output) -> String {
    format!("{}: {}", output.status, String::from_utf8_lossy(&output.stderr))
}

/// Changes files.
fn change(root: &Path, step: &Value) {
    let at = |key: &str| -> PathBuf { root.join(step[key].as_str().expect("a path")) };
    let text = || step["text"].as_str().expect("a text");
    match step["op"].as_str().expect("an operation") {
        "write" => {
            let path = at("path");
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(path, text()).expect("a file");
        }
        "append" => {
            let mut file = OpenOptions::new().append(true).open(at("path")).expect("a file");
            file.write_all(text().as_bytes()).expect("an appended file");
        }
        "truncate" => drop(File::create(at("path")).expect("an empty file")),
        "rename" => fs::rename(at("from"), at("to")).expect("a new name"),
        "remove" => fs::remove_file(at("path")).expect("no file"),
        "remove_dir" => fs::remove_dir_all(at("path")).expect("no folder"),
        "mkdir" => fs::create_dir_all(at("path")).expect("a folder"),
        "symlink" => {
            let target = step["target"].as_str().expect("a target");
            std::os::unix::fs::symlink(target, at("path")).expect("a link");
        }
        "touch" => {
            let file = OpenOptions::new().append(true).open(at("path")).expect("a file");
            file.set_modified(SystemTime::now()).expect("a new time");
        }
        "chmod" => folder::set_mode(&at("path"), step["mode"].as_str().expect("a mode")),
        "gen_files" => {
            fs::create_dir_all(at("dir")).expect("a folder");
            for i in 0..number(step, "count") {
                let text = text().replace("{i}", &i.to_string());
                fs::write(at("dir").join(format!("{i}.md")), text).expect("a file");
            }
        }
        "remove_range" => {
            for i in number(step, "from")..=number(step, "to") {
                fs::remove_file(at("dir").join(format!("{i}.md"))).expect("no file");
            }
        }
        "wait" => thread::sleep(Duration::from_millis(number(step, "ms"))),
        other => panic!("no such operation: {other}"),
    }
}

fn number(step: &Value, name: &str) -> u64 {
    step[name].as_u64().unwrap_or_else(|| panic!("{name} in {step}"))
}
