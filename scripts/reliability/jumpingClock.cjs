// Has `Date` go by a clock that jumps: preloaded into a process and its children, it adds the milliseconds that the file ATELIER_TEST_CLOCK holds. Monotonic
// times do not jump, as on a machine whose clock is set.
const { readFileSync } = require("node:fs")

const file = process.env.ATELIER_TEST_CLOCK
let ahead = 0
const read = () => {
  try {
    ahead = Number(readFileSync(file, "utf8"))
  } catch {
    // At the end of the script that jumps
  }
}
read()
setInterval(read, 50).unref()

const Real = Date
globalThis.Date = new Proxy(Real, {
  construct: (target, given, newTarget) => Reflect.construct(target, given.length === 0 ? [Real.now() + ahead] : given, newTarget),
  apply: () => new Real(Real.now() + ahead).toString(),
  get: (target, name) => (name === "now" ? () => Real.now() + ahead : Reflect.get(target, name))
})
