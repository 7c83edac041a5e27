import { Context } from "effect"

/** The address at the other end of the connection, for requests that do not know it themselves. */
export class PeerAddress extends Context.Reference<PeerAddress>()("@atelier/http/PeerAddress", { defaultValue: () => "" }) {}
