// Sets the theme before the first paint. A file of its own, because the policy of the page allows no script inside it.
;(function () {
  let choice
  try {
    choice = localStorage.getItem("atelier-theme")
  } catch {
    // Storage may be switched off
  }
  const dark = choice === "dark" || (choice !== "light" && matchMedia("(prefers-color-scheme: dark)").matches)
  document.documentElement.dataset.theme = dark ? "dark" : "light"
})()
