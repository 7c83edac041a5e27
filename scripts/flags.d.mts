/** Node's own options with which `npm start` of a checkout runs the server. */
export declare const flagsOf: (checkout: URL) => ReadonlyArray<string>
