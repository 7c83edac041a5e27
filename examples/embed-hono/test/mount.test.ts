import { mountTest } from "../../../test/mounts.js"

mountTest("Hono", "embed-hono/dist/main.js")
