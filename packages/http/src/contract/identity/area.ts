/** This area's groups of endpoints. */
import * as HttpApi from "@effect/platform/HttpApi"
import { externalLogins } from "./externalLogins.js"
import { gitSshKeys } from "./gitSshKeys.js"
import { idpSync } from "./idpSync.js"
import { keys } from "./keys.js"
import { logins } from "./logins.js"
import { passcodes } from "./passcodes.js"
import { personalSettings } from "./personalSettings.js"
import { quietHours } from "./quietHours.js"
import { scimUsers } from "./scim.js"
import { sshKeys } from "./sshKeys.js"
import { users } from "./users.js"
import { userSecrets } from "./userSecrets.js"

export const area = HttpApi.make("identity")
  .add(externalLogins)
  .add(gitSshKeys)
  .add(idpSync)
  .add(keys)
  .add(logins)
  .add(passcodes)
  .add(personalSettings)
  .add(quietHours)
  .add(scimUsers)
  .add(sshKeys)
  .add(users)
  .add(userSecrets)
