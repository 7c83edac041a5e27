import { readFileSync } from "node:fs"

/** Node's own options with which `npm start` of a checkout runs the server. */
export const flagsOf = (checkout) => {
  const { scripts } = JSON.parse(readFileSync(new URL("package.json", checkout), "utf8"))
  return scripts.start.split(" ").filter((word) => word.startsWith("--"))
}
