/** Arguments and options that several commands take. */
import { required, text, texts, toggle } from "../command/Command.js"

/** Which workspace. */
export const workspace = { workspace: required("the workspace: NAME or OWNER/NAME", "workspace") }

/** Whether a command waits for its build. */
export const detach = { detach: toggle("do not wait for the build", { short: "d" }) }

/** Values of a template's parameters. */
export const parameters = {
  parameter: texts("NAME=VALUE", "a value of a parameter", { short: "p" }),
  parameterFile: text("FILE", "a JSON object of parameters and their values", { kind: "file" })
}

/** The workspace, and its agent where the user names one. */
export const reached = { workspace: required("the workspace: NAME, OWNER/NAME or OWNER/NAME.AGENT", "workspace") }

/** Where and with what a command runs. */
export const runs = {
  tty: toggle("give the command a terminal", { short: "t" }),
  noTty: toggle("give the command no terminal", { short: "T" }),
  noInput: toggle("do not read the standard input", { short: "n" }),
  cwd: text("DIRECTORY", "where the command runs", { short: "C" }),
  env: texts("NAME=VALUE", "a variable of the command's environment", { short: "e" })
}

/** Whether a command asks before it deletes. */
export const yes = { yes: toggle("do not ask", { short: "y" }) }

/** Which template. */
export const template = { template: required("the template: NAME or ORGANIZATION/NAME", "template") }

/** Which organization. */
export const organization = { organization: text("ORGANIZATION", "the organization; the default one unless given") }
