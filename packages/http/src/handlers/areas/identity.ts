/** How this area's groups of endpoints are implemented. */
import { externalLogins } from "../externalLogins.js"
import { gitSshKeys } from "../gitSshKeys.js"
import { idpSync } from "../idpSync.js"
import { keys } from "../keys.js"
import { logins } from "../logins.js"
import { passcodes } from "../passcodes.js"
import { personalSettings } from "../personalSettings.js"
import { quietHours } from "../quietHours.js"
import { scim } from "../scim.js"
import { users } from "../users.js"
import { userSecrets } from "../userSecrets.js"
import { together } from "@atelier/core/platform"

export const area = together(
  externalLogins,
  gitSshKeys,
  idpSync,
  keys,
  logins,
  passcodes,
  personalSettings,
  quietHours,
  scim,
  users,
  userSecrets
)
