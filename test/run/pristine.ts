/**
 * Runs before each file of tests. `layer(…)` of the test library puts its own `effect` and `scoped` into the one `it` there is, for good: files
 * that share a worker would run with the services of whichever came before.
 */
import { effect, it, scoped } from "@effect/vitest"

Object.assign(it, { effect, scoped })
