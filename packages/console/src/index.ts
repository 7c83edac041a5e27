/** The console's files, and what a server answers with them. It uses no module of Node, and nothing that has to be installed. */
export { type DocumentAnswer, documentOf } from "./serve/document.js"
export { type FileAnswer, fileAnswer } from "./serve/fileAnswer.js"
export { policyOf, type Sources } from "./serve/policy.js"
export { type ConsoleAccent, type ConsoleLink, type ConsoleSettings } from "./serve/settings.js"
export { fileOf, folder, isRoute, listPath, parseSite, type Site, type SiteFile } from "./serve/site.js"
export { type Host, respond } from "./serve/respond.js"
