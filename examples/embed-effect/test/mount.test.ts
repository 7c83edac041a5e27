import { mountTest } from "../../../test/http/mounts.js"

mountTest("an Effect application", "embed-effect/dist/main.js")
