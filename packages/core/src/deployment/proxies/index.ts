export * from "./ProxyHealth.js"
export * from "./WorkspaceProxies.js"
export * from "./WorkspaceProxy.js"
export * from "./WorkspaceProxyView.js"
