/** How the program is called by its user, for messages that show a command line. */
export const calledAs = (environment: Readonly<Record<string, string | undefined>>): string => {
  const { npm_lifecycle_event: event, npm_lifecycle_script: script = "" } = environment
  if (event === "start" && script.includes("scripts/start.cjs")) return "npm start --"
  return event === "npx" && /\batelier\b/.test(script) ? "npx atelier" : "atelier"
}
