// Asks the server or the proxy of this container whether it lives, for Docker's health check.
import { get } from "node:http"

const port = /:(\d+)$/.exec(process.env.ATELIER_HTTP_ADDRESS ?? "")?.[1] ?? "3000"
get({ host: "127.0.0.1", port, path: "/healthz", timeout: 4_000 }, (answer) => process.exit(answer.statusCode === 200 ? 0 : 1))
  .on("timeout", () => process.exit(1))
  .on("error", () => process.exit(1))
