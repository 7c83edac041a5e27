import { paginate } from "@atelier/client"
import * as users from "@atelier/client/users"

for await (const { email } of paginate((page) => users.listUsers(client, { ...page, q: "status:active" })))
  process.stdout.write(`${email}\n`)

declare const client: import("@atelier/client").Client
