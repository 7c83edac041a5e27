/** What scopes mean, as the consent page tells users. oauth2-provider.md §4. */

const lasting = "It lasts when you end the permission of the app."

/** A program in a workspace reads what its owner left there: the session's token, keys of cloud providers, and whatever the user's own programs have. */
const asOwner = "There it can act as you do, also with the credentials that it finds, your session's among them."

const permissions: Readonly<Record<string, string>> = {
  "coder:all": `Do everything that you can do, except give or change credentials, users, roles, groups, shares and settings of the deployment. That includes programs in your workspaces. ${asOwner}`,
  "coder:apikeys.manage_self": `See, create, change and delete your API keys. ${lasting}`,
  "coder:application_connect": `Open the apps of your workspaces, such as terminals and editors. ${asOwner}`,
  "coder:templates.author": "See, create, change and delete templates, and see how they are used",
  "coder:templates.build": "See templates, and import new versions of them",
  "coder:workspaces.access": `See your workspaces, open their apps, and run programs in them. ${asOwner}`,
  "coder:workspaces.create": "See, create, change, start and stop your workspaces",
  "coder:workspaces.delete": "See and delete your workspaces",
  "coder:workspaces.operate": "See, change, start and stop your workspaces",
  "api_key:*": `See, create, change and delete your API keys. ${lasting}`,
  "api_key:create": `Create API keys of your account. ${lasting}`,
  "api_key:delete": "Delete your API keys",
  "api_key:read": "See your API keys, without their secrets",
  "api_key:update": "Change your API keys",
  "file:*": "Upload and read files of templates",
  "file:create": "Upload files of templates",
  "file:read": "Read files of templates",
  "organization:*": "See, change and delete organizations, with the rights of their members",
  "organization:delete": "Delete organizations",
  "organization:read": "See your organizations",
  "organization:update": "Change organizations, with the rights of their members",
  "task:*": "See, create, change and delete your tasks",
  "task:create": "Create tasks",
  "task:delete": "Delete your tasks",
  "task:read": "See your tasks",
  "task:update": "Change your tasks and write to them",
  "template:*": "See, use, create, change and delete templates, and see how they are used",
  "template:create": "Create templates",
  "template:delete": "Delete templates",
  "template:read": "See templates",
  "template:update": "Change templates",
  "template:use": "Create workspaces from templates",
  "user:*": "See and change your account and your personal data, and those of all users that you may administer",
  "user:read": "See your account, and other users that you can see",
  "user:read_personal": "See your personal data and settings",
  "user:update_personal": "Change your personal data, your SSH key and your accounts at other services",
  "user_secret:*": "See the names of your secrets, and create, change and delete secrets",
  "user_secret:create": "Create secrets in your workspaces",
  "user_secret:delete": "Delete your secrets",
  "user_secret:read": "See the names of your secrets",
  "user_secret:update": "Change your secrets",
  "user_skill:*": "See, create, change and delete your skills",
  "user_skill:create": "Create skills",
  "user_skill:delete": "Delete your skills",
  "user_skill:read": "See your skills",
  "user_skill:update": "Change your skills",
  "workspace:*": `Do everything with your workspaces: see, create, change, start, stop, share and delete them, and run programs in them. ${asOwner}`,
  "workspace:application_connect": `Open the apps of your workspaces, such as terminals and editors. ${asOwner}`,
  "workspace:create": "Create workspaces",
  "workspace:delete": "Delete your workspaces",
  "workspace:read": "See your workspaces",
  "workspace:ssh": `Run programs in your workspaces. ${asOwner}`,
  "workspace:start": "Start your workspaces",
  "workspace:stop": "Stop your workspaces",
  "workspace:update": "Change your workspaces"
}

/** What a scope lets an app do, for a sentence that begins "It will be able to". */
export const permissionOf = (scope: string): string => permissions[scope] ?? scope
