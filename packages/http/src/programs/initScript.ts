/** Scripts that download the agent and run it. deployment.md §1.8. */
import type { Names } from "../wire/Brand.js"
import { nodeRange } from "./version.js"

const architectures: Readonly<Record<string, ReadonlyArray<string>>> = {
  linux: ["amd64", "arm64", "armv7"],
  darwin: ["amd64", "arm64"],
  windows: ["amd64", "arm64"]
}

/** The names that the agent's program is downloaded by: it is the same for every platform. */
export const programNames = (word: string): ReadonlySet<string> =>
  new Set(
    Object.entries(architectures).flatMap(([os, all]) =>
      all.map((arch) => `${word.toLowerCase()}-${os}-${arch}${os === "windows" ? ".mjs" : ""}`)
    )
  )

interface Place {
  readonly accessUrl: string
  readonly names: Pick<Names, "word" | "environmentPrefix">
}

/** A program for any Node, even one that cannot read the agent's syntax. No quotes: two shells pass it on. */
const checkNode = (): string => {
  const [major, minor] = nodeRange.replace(/^\D+/, "").split(".")
  return [
    "const [major, minor] = process.versions.node.split(`.`).map(Number)",
    `const isOld = major < ${major} || (major === ${major} && minor < ${minor})`,
    `if (isOld) console.error(\`Node.js \${process.versions.node} is too old: the agent needs ${nodeRange}\`)`,
    "process.exit(isOld ? 1 : 0)"
  ].join("; ")
}

const posix = ({ accessUrl, names }: Place, os: string, arch: string): string => {
  const { environmentPrefix: prefix, word } = names
  const name = word.toLowerCase()
  return `#!/usr/bin/env sh
set -eu
# Downloads the agent and runs it. BINARY_DIR names another folder for it.
BINARY_DIR="\${BINARY_DIR:-$(mktemp -d "\${TMPDIR:-/tmp}/${name}.XXXXXX")}"
BINARY_URL="${accessUrl}/bin/${name}-${os}-${arch}"
PROGRAM="$BINARY_DIR/${name}.mjs"
mkdir -p "$BINARY_DIR"
cd "$BINARY_DIR"

download() {
  if command -v curl >/dev/null 2>&1; then curl -fsSL --compressed "$BINARY_URL" -o "$PROGRAM"
  elif command -v wget >/dev/null 2>&1; then wget -q "$BINARY_URL" -O "$PROGRAM"
  elif command -v busybox >/dev/null 2>&1; then busybox wget -q "$BINARY_URL" -O "$PROGRAM"
  else echo "curl, wget or busybox is needed to download the agent" >&2; return 1
  fi
}

while ! download; do
  echo "the agent could not be downloaded from $BINARY_URL; the next attempt follows in 30 seconds" >&2
  sleep 30
done
chmod +x "$PROGRAM"

if ! command -v node >/dev/null 2>&1; then
  echo "Node.js is needed to run the agent" >&2
  exit 1
fi
node -e '${checkNode()}'
export ${prefix}AGENT_AUTH="token"
export ${prefix}AGENT_URL="${accessUrl}/"
export ${prefix}AGENT_BRAND="${word}"
node "$PROGRAM" --version >/dev/null

# Another attempt at once would lose the log of this one
node "$PROGRAM" --environment-prefix ${prefix.replace(/_$/, "")} || { echo "the agent ended with status $?" >&2; sleep 86400; }
`
}

const powershell = ({ accessUrl, names }: Place, arch: string): string => {
  const { environmentPrefix: prefix, word } = names
  const name = word.toLowerCase()
  return `# Downloads the agent and runs it. BINARY_DIR names another folder for it.
$ErrorActionPreference = "Stop"
$ProgressPreference = "SilentlyContinue"
$BinaryUrl = "${accessUrl}/bin/${name}-windows-${arch}.mjs"
$Directory = if ($env:BINARY_DIR) { $env:BINARY_DIR } else { Join-Path $env:TEMP "${name}-$([guid]::NewGuid())" }
New-Item -ItemType Directory -Force -Path $Directory | Out-Null
$Program = Join-Path $Directory "${name}.mjs"
while ($true) {
  try {
    Invoke-WebRequest -Uri $BinaryUrl -OutFile $Program -UseBasicParsing
    break
  } catch {
    Write-Error -ErrorAction Continue "the agent could not be downloaded from $BinaryUrl; the next attempt follows in 30 seconds"
    Start-Sleep -Seconds 30
  }
}
if (-not (Get-Command node -ErrorAction SilentlyContinue)) { throw "Node.js is needed to run the agent" }
node -e '${checkNode()}'
if ($LASTEXITCODE -ne 0) { throw "the agent does not run with this version of Node.js" }
$env:${prefix}AGENT_AUTH = "token"
$env:${prefix}AGENT_URL = "${accessUrl}/"
$env:${prefix}AGENT_BRAND = "${word}"
node $Program --version | Out-Null
if ($LASTEXITCODE -ne 0) { throw "the agent does not run on this machine" }
node $Program --environment-prefix ${prefix.replace(/_$/, "")}
if ($LASTEXITCODE -ne 0) {
  # Another attempt at once would lose the log of this one
  Start-Sleep -Seconds 86400
}
`
}

/** Returns the script of a platform; undefined for an unknown one. */
export const initScript = (place: Place, os: string, arch: string): string | undefined => {
  const [system, machine] = [os.toLowerCase(), arch.toLowerCase()]
  if (!Object.hasOwn(architectures, system) || architectures[system]?.includes(machine) !== true) return undefined
  return system === "windows" ? powershell(place, machine) : posix(place, system, machine)
}

/** The command that starts an agent with its token, for the shell of its platform. workspaces.md §3.8. */
export const startCommand = (
  { accessUrl, names }: Place,
  { architecture, operating_system }: { readonly architecture: string; readonly operating_system: string },
  token: string
): string => {
  // Encoded, so that a template's text ends no word of the shell
  const [os, arch] = [operating_system, architecture].map(encodeURIComponent)
  const address = `${accessUrl}/api/v2/init-script/${os}/${arch}`
  const variable = `${names.environmentPrefix}AGENT_TOKEN`
  return operating_system === "windows"
    ? `$env:${variable}="${token}"; iwr -useb "${address}" | iex`
    : `curl -fsSL "${address}" | ${variable}="${token}" sh`
}
