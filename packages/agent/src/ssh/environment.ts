/** Variables that a client may send along with a session. */

/**
 * Names that sessions take: languages, the terminal, editors, git, and those with which editors find their own sessions. Others are left out, because
 * they would be in the way of what the template sets.
 */
const accepted =
  /^(?:LANG|LANGUAGE|LC_[A-Z]+|TZ|TERM_PROGRAM(?:_VERSION)?|COLORTERM|COLORFGBG|NO_COLOR|FORCE_COLOR|CLICOLOR(?:_FORCE)?|EDITOR|VISUAL|PAGER|GIT_[A-Z_]+|XMODIFIERS|(?:VSCODE|CURSOR|WINDSURF|JETBRAINS|ZED)_[A-Z0-9_]+)$/

/** Variables of one session, and bytes of a value. */
const maximumVariables = 128
const maximumValue = 32 * 1024

export class Sent {
  readonly variables = new Map<string, string>()

  /** Whether a variable is taken. */
  take(name: string, value: string): boolean {
    if (!accepted.test(name) || value.includes("\0") || Buffer.byteLength(value) > maximumValue) return false
    if (this.variables.size >= maximumVariables && !this.variables.has(name)) return false
    this.variables.set(name, value)
    return true
  }
}
