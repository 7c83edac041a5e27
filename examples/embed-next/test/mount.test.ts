import { mountTest } from "../../../test/http/mounts.js"

mountTest("a Next.js-style route handler", "embed-next/dist/main.js")
