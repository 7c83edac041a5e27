/** How this area is stored: its repositories and its migrations. */
import type { Stored } from "@atelier/core/identity"
import { Layer } from "effect"
import { layer as accounts } from "./users/AccountRepository.js"
import { layer as apiKeys } from "./sessions/ApiKeyRepository.js"
import { layer as claims } from "./sync/ClaimRepository.js"
import { layer as dormancy } from "./users/DormancyRepository.js"
import { layer as gitSshKeys } from "./secrets/GitSshKeyRepository.js"
import { layer as idpSync } from "./sync/IdpSyncRepository.js"
import { layer as loginSync } from "./sync/LoginSyncRepository.js"
import { layer as passcodes } from "./passwords/PasscodeRepository.js"
import { layer as scimUsers } from "./scim/ScimUserRepository.js"
import { layer as sessions } from "./sessions/SessionRepository.js"
import { layer as sshKeys } from "./sshKeys/SshKeyRepository.js"
import { layer as userDeletions } from "./users/UserDeletionRepository.js"
import { layer as userDirectory } from "./users/UserDirectoryRepository.js"
import { layer as userLinks } from "./logins/UserLinkRepository.js"
import { layer as users } from "./users/UserRepository.js"
import { layer as userSecrets } from "./secrets/UserSecretRepository.js"
import { layer as userSettings } from "./settings/UserSettingsRepository.js"
import identity from "./migrations/0010_identity.js"
import usersMigration from "./migrations/0081_users.js"
import userSecretsMigration from "./migrations/0082_user_secrets.js"
import userSettingsMigration from "./migrations/0083_user_settings.js"
import userLinksMigration from "./migrations/0084_user_links.js"
import passcodesAndDormancy from "./migrations/0085_passcodes_and_dormancy.js"
import usersKeysAndStarts from "./migrations/0086_users_keys_and_starts.js"
import userPages from "./migrations/0087_user_pages.js"
import idpSyncMigration from "./migrations/0100_idp_sync.js"
import prebuildsUser from "./migrations/0300_prebuilds_user.js"
import userSshKeys from "./migrations/0560_user_ssh_keys.js"
import { together } from "@atelier/core/platform"
import type { Statements } from "../platform/Statements.js"

export const layer = together(
  accounts,
  apiKeys,
  claims,
  dormancy,
  gitSshKeys,
  idpSync,
  loginSync,
  passcodes,
  scimUsers,
  sessions,
  sshKeys,
  userDeletions,
  userDirectory,
  userLinks,
  users,
  userSecrets,
  userSettings
) satisfies Layer.Layer<Stored, never, Statements>

export const migrations = {
  "0010_identity": identity,
  "0081_users": usersMigration,
  "0082_user_secrets": userSecretsMigration,
  "0083_user_settings": userSettingsMigration,
  "0084_user_links": userLinksMigration,
  "0085_passcodes_and_dormancy": passcodesAndDormancy,
  "0086_users_keys_and_starts": usersKeysAndStarts,
  "0087_user_pages": userPages,
  "0100_idp_sync": idpSyncMigration,
  "0300_prebuilds_user": prebuildsUser,
  "0560_user_ssh_keys": userSshKeys
}
