/** Express 4 under a name of its own, with the part of its types that both versions share. */
declare module "express-4" {
  import type { Express } from "express"
  const express: () => Express
  export default express
}
