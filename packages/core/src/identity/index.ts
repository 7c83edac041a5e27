export * from "./User.js"
export * from "./UserRepository.js"
