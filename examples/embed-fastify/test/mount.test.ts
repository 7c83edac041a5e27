import { mountTest } from "../../../test/http/mounts.js"

mountTest("Fastify", "embed-fastify/dist/main.js")
