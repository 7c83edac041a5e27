import { mountTest } from "../../../test/http/mounts.js"

mountTest("Hono", "embed-hono/dist/main.js")
