/** What the program prints for `--help` alone: its commands, and the options that most servers need. */
import { words } from "./words.js"

const options = {
  "--access-url URL": "where users and agents reach the server",
  "--http-address HOST:PORT": "the address to listen on; default 127.0.0.1:3000",
  "--data-directory FOLDER": "where the database and the workspaces are",
  "--database URL": "sqlite:FILE or postgres://…",
  "--engines ENGINE,…": "of local, docker, terraform and kubernetes",
  "--config FILE": "a YAML file with options"
}

const listed = (entries: Readonly<Record<string, string>>): string => {
  const width = Math.max(...Object.keys(entries).map(({ length }) => length))
  return Object.entries(entries)
    .map(([name, text]) => `  ${name.padEnd(width)}  ${text}`)
    .join("\n")
}

/** The overview for a program that is called so. */
export const overview = (called: string): string => `Usage: ${called} [COMMAND] [options]
       ${called} COMMAND --help
       ${called} --version

Commands of the server:
${listed(words)}

Commands that work with a server elsewhere, such as login, create and ssh:
"${called} help" lists them.

Options that most servers need:
${listed(options)}

"${called} serve --help" lists all options.
`
