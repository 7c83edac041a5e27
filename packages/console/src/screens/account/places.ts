/** The parts of the settings, in the order in which they are shown. */
import { accountText } from "../../texts/account.js"

export const accountPlaces = [
  { label: accountText.profile, link: { to: "/settings/account" } },
  { label: accountText.security, link: { to: "/settings/security" } },
  { label: accountText.tokens, link: { to: "/settings/tokens" } },
  { label: accountText.sshKeys, link: { to: "/settings/ssh-keys" } },
  { label: accountText.secrets, link: { to: "/settings/secrets" } },
  { label: accountText.externalAuth, link: { to: "/settings/external-auth" } },
  { label: accountText.notifications, link: { to: "/settings/notifications" } },
  { label: accountText.appearance, link: { to: "/settings/appearance" } },
  { label: accountText.schedule, link: { to: "/settings/schedule" } }
] as const
