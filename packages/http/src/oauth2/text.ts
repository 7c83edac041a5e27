/** The texts of the pages. */
export const text = {
  language: "en",
  consentTitle: (app: string) => `Allow ${app}?`,
  consentFull: (app: string, user: string) => `Allow ${app} full access to the account ${user}?`,
  consentNarrow: (app: string, user: string) => `Allow ${app} these uses of the account ${user}?`,
  consentRedirect: (target: string) => `If you allow it, your browser goes on to ${target}.`,
  consentScopes: (scopes: string) => `The app asks for: ${scopes}.`,
  allow: "Allow",
  cancel: "Cancel",
  errorTitle: "The request of the app is not valid",
  backToService: "Back to the service"
} as const
