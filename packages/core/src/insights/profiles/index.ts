export * from "./Profiles.js"
