/** The program's version. */
import { readFileSync } from "node:fs"

const read = (): string => {
  const { version }: { readonly version: string } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"))
  return version
}

export const version = read()

/** Whether two versions differ by more than a minor one. Versions that are not written as such are not compared. */
export const differsMuch = (one: string, other: string): boolean => {
  const [first, second] = [one, other].map((each) => /^v?(\d+)\.(\d+)\./.exec(each))
  if (first === null || second === null || first === undefined || second === undefined) return false
  return first[1] !== second[1] || Math.abs(Number(first[2]) - Number(second[2])) > 1
}
