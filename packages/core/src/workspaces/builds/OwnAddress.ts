/** The address of builds that no request caused. */
export const ownAddress = "127.0.0.1"
