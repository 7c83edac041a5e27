import { mountTest } from "../../../test/mounts.js"

mountTest("an Effect application", "embed-effect/dist/main.js")
