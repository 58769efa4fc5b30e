// Copy buttons. Without this script the page can be read and used all the same.
for (const button of document.querySelectorAll("button[data-copy]")) {
  const source = document.getElementById(button.dataset.copy);
  const label = button.textContent;
  button.hidden = false;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(source.textContent);
      button.textContent = button.dataset.done;
      setTimeout(() => { button.textContent = label; }, 2000);
    } catch {
      // No clipboard on plain http: select the text, so that the keyboard can copy it.
      getSelection().selectAllChildren(source);
    }
  });
}
