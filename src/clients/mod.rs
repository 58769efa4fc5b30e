//! What to write into an MCP client's settings to connect it: one snippet a client and transport.
//!
//! A token never stands in a snippet: each names the environment variable [`TOKEN_VARIABLE`] in the client's own way. The
//! command line and the settings page show the same texts.

use std::fmt;

use serde_json::{Value, json};

/// Holds the token in the client's environment.
pub const TOKEN_VARIABLE: &str = "BOTMESH_TOKEN";

/// Name of the server in every snippet.
pub const SERVER_NAME: &str = "botmesh";

/// A client whose settings we know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Client {
    /// Claude Code.
    Claude,
    /// Claude Desktop.
    ClaudeDesktop,
    /// Cursor.
    Cursor,
    /// Visual Studio Code.
    Vscode,
    /// Codex.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// `OpenCode`.
    Opencode,
    /// Zed.
    Zed,
    /// Windsurf.
    Windsurf,
    /// Any other that reads `mcpServers`.
    Generic,
}

/// How the client reaches the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport<'a> {
    /// It starts the program itself, with this docs folder.
    Stdio {
        /// The docs folder as the client will name it.
        docs: &'a str,
    },
    /// It calls a running server.
    Http {
        /// URL of the endpoint, with `/mcp`.
        url: &'a str,
    },
}

/// Syntax of a snippet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// JSON.
    Json,
    /// TOML.
    Toml,
}

impl Format {
    /// Its name in lower case.
    pub fn name(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Toml => "toml",
        }
    }
}

/// What to write, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snippet {
    /// The file, as the client's manual names it; `None` when we do not know the client.
    pub file: Option<&'static str>,
    /// The syntax.
    pub format: Format,
    /// The text, with a line feed at its end.
    pub text: String,
    /// A command that does the same, for clients that have one.
    pub command: Option<String>,
    /// What to know besides.
    pub note: Option<Note>,
}

/// What to know of a snippet before it is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Note {
    /// The client starts servers in no folder of the user's.
    FullPaths,
    /// The client asks for the token.
    AsksForToken,
    /// We do not know whether the client replaces variables.
    VariableUnknown,
}

impl fmt::Display for Note {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::FullPaths => "give the program and the docs folder with their full paths",
            Self::AsksForToken => "the client asks for the token once and keeps it",
            Self::VariableUnknown => {
                "whether the client replaces the variable is not known: see its manual"
            }
        })
    }
}

impl Client {
    /// Every client.
    pub const ALL: [Self; 10] = [
        Self::Claude,
        Self::ClaudeDesktop,
        Self::Cursor,
        Self::Vscode,
        Self::Codex,
        Self::Gemini,
        Self::Opencode,
        Self::Zed,
        Self::Windsurf,
        Self::Generic,
    ];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::ClaudeDesktop => "claude-desktop",
            Self::Cursor => "cursor",
            Self::Vscode => "vscode",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Opencode => "opencode",
            Self::Zed => "zed",
            Self::Windsurf => "windsurf",
            Self::Generic => "generic",
        }
    }

    /// Its name for people.
    pub fn title(self) -> &'static str {
        match self {
            Self::Claude => "Claude Code",
            Self::ClaudeDesktop => "Claude Desktop",
            Self::Cursor => "Cursor",
            Self::Vscode => "VS Code",
            Self::Codex => "Codex",
            Self::Gemini => "Gemini CLI",
            Self::Opencode => "OpenCode",
            Self::Zed => "Zed",
            Self::Windsurf => "Windsurf",
            Self::Generic => "other clients",
        }
    }

    fn file(self) -> Option<&'static str> {
        Some(match self {
            Self::Claude => ".mcp.json",
            Self::ClaudeDesktop => "claude_desktop_config.json",
            Self::Cursor => ".cursor/mcp.json",
            Self::Vscode => ".vscode/mcp.json",
            Self::Codex => "~/.codex/config.toml",
            Self::Gemini => ".gemini/settings.json",
            Self::Opencode => "opencode.json",
            Self::Zed => "settings.json",
            Self::Windsurf => "~/.codeium/windsurf/mcp_config.json",
            Self::Generic => return None,
        })
    }

    /// The snippet for a transport; `None` when the client's settings have no place for it.
    pub fn snippet(self, transport: Transport<'_>) -> Option<Snippet> {
        let (text, format) = match self {
            Self::Codex => (codex(transport), Format::Toml),
            _ => (format!("{:#}\n", self.settings(transport)?), Format::Json),
        };
        let (command, note) = (self.command(transport), self.note(transport));
        Some(Snippet { file: self.file(), format, text, command, note })
    }

    fn settings(self, transport: Transport<'_>) -> Option<Value> {
        let server = match transport {
            Transport::Stdio { docs } => self.stdio(docs),
            Transport::Http { url } => self.http(url)?,
        };
        let key = match self {
            Self::Vscode => "servers",
            Self::Opencode => "mcp",
            Self::Zed => "context_servers",
            _ => "mcpServers",
        };
        let mut settings = json!({ key: { SERVER_NAME: server } });
        if self == Self::Vscode && matches!(transport, Transport::Http { .. }) {
            settings["inputs"] = json!([{
                "type": "promptString",
                "id": "botmesh-token",
                "description": "Token for botmesh-docs",
                "password": true,
            }]);
        }
        Some(settings)
    }

    fn stdio(self, docs: &str) -> Value {
        let args = json!(["--docs", docs]);
        match self {
            Self::Claude => {
                json!({ "type": "stdio", "command": "botmesh-docs", "args": args, "env": {} })
            }
            Self::Vscode => json!({ "type": "stdio", "command": "botmesh-docs", "args": args }),
            Self::Opencode => json!({
                "type": "local",
                "command": ["botmesh-docs", "--docs", docs],
                "environment": {},
                "enabled": true,
            }),
            Self::Zed => {
                json!({ "source": "custom", "command": "botmesh-docs", "args": args, "env": {} })
            }
            _ => json!({ "command": "botmesh-docs", "args": args }),
        }
    }

    fn http(self, url: &str) -> Option<Value> {
        let token = match self {
            Self::ClaudeDesktop | Self::Codex => return None,
            Self::Vscode => "${input:botmesh-token}".to_owned(),
            Self::Cursor | Self::Windsurf => format!("${{env:{TOKEN_VARIABLE}}}"),
            Self::Opencode => format!("{{env:{TOKEN_VARIABLE}}}"),
            Self::Claude | Self::Gemini | Self::Zed | Self::Generic => {
                format!("${{{TOKEN_VARIABLE}}}")
            }
        };
        let headers = json!({ "Authorization": format!("Bearer {token}") });
        Some(match self {
            Self::Claude | Self::Vscode | Self::Generic => {
                json!({ "type": "http", "url": url, "headers": headers })
            }
            Self::Gemini => json!({ "url": url, "type": "http", "headers": headers }),
            Self::Opencode => json!({ "type": "remote", "url": url, "headers": headers }),
            Self::Windsurf => json!({ "serverUrl": url, "headers": headers }),
            _ => json!({ "url": url, "headers": headers }),
        })
    }

    fn command(self, transport: Transport<'_>) -> Option<String> {
        let start = match (self, transport) {
            (Self::Claude, Transport::Http { url }) => {
                return Some(format!(
                    "claude mcp add --transport http {SERVER_NAME} {} --header 'Authorization: Bearer ${{{TOKEN_VARIABLE}}}'",
                    quoted(url)
                ));
            }
            (Self::Codex, Transport::Http { url }) => {
                return Some(format!(
                    "codex mcp add {SERVER_NAME} --url {} --bearer-token-env-var {TOKEN_VARIABLE}",
                    quoted(url)
                ));
            }
            (Self::Claude, Transport::Stdio { .. }) => "claude",
            (Self::Codex, Transport::Stdio { .. }) => "codex",
            _ => return None,
        };
        let Transport::Stdio { docs } = transport else { return None };
        Some(format!("{start} mcp add {SERVER_NAME} -- botmesh-docs --docs {}", quoted(docs)))
    }

    fn note(self, transport: Transport<'_>) -> Option<Note> {
        match (self, transport) {
            (Self::ClaudeDesktop | Self::Windsurf, Transport::Stdio { .. }) => {
                Some(Note::FullPaths)
            }
            (Self::Vscode, Transport::Http { .. }) => Some(Note::AsksForToken),
            (Self::Zed | Self::Generic, Transport::Http { .. }) => Some(Note::VariableUnknown),
            _ => None,
        }
    }
}

fn codex(transport: Transport<'_>) -> String {
    // Strings of JSON are basic strings of TOML, too.
    let text = |text: &str| json!(text).to_string();
    let lines = match transport {
        Transport::Stdio { docs } => {
            format!("command = \"botmesh-docs\"\nargs = [\"--docs\", {}]\n", text(docs))
        }
        Transport::Http { url } => {
            format!("url = {}\nbearer_token_env_var = \"{TOKEN_VARIABLE}\"\n", text(url))
        }
    };
    format!("[mcp_servers.{SERVER_NAME}]\n{lines}")
}

/// A word as a POSIX shell takes it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:~".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// The URL of the server card of an endpoint.
pub fn card_url(endpoint: &str) -> String {
    format!("{endpoint}/server-card")
}

/// The endpoint of a server's URL: with `/mcp` at its end, however it was given.
pub fn endpoint(url: &str) -> String {
    let url = url.trim_end_matches('/');
    if url.ends_with("/mcp") { url.to_owned() } else { format!("{url}/mcp") }
}
