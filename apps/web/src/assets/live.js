// Follows a running session: when its file has grown, the part of the page that
// shows it is fetched again. Without this script the page is as it was loaded.
const live = document.querySelector("[data-live]");
if (live) {
  const source = new EventSource(live.dataset.live);
  let busy = false;
  source.addEventListener("changed", async () => {
    if (busy || document.hidden) return;
    busy = true;
    try {
      const answer = await fetch(location.href);
      if (!answer.ok) return;
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const fresh = page.querySelector("[data-live]");
      if (!fresh) return;
      const focused = live.contains(document.activeElement)
        ? document.activeElement.getAttribute("href")
        : null;
      live.replaceChildren(...fresh.childNodes);
      if (focused) live.querySelector(`[href="${CSS.escape(focused)}"]`)?.focus();
    } finally {
      busy = false;
    }
  });
}
