/** The protocol of relays, which forward packets between peers that cannot reach each other. agents-and-apps.md §12. */
export * as Box from "./Box.js"
export * as RelayFrame from "./Frame.js"
export * from "./FrameReader.js"
