/** The algorithms that clients may sign with: asymmetric ones (RFC 7518 §3.1, RFC 8037), so the server stores no secret of a client. */
export const signatureAlgorithms = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519"]
