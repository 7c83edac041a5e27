import { mountTest } from "../../../test/mounts.js"

mountTest("a Next.js-style route handler", "embed-next/dist/main.js")
