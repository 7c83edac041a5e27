import { mountTest } from "../../../test/mounts.js"

mountTest("Fastify", "embed-fastify/dist/main.js")
