// The client of Docker, as a script of its own.
export { default } from "dockerode"
