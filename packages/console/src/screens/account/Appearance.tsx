import * as personalSettings from "@atelier/client/personalSettings"
import { useMutation, useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { client } from "../../app/client.js"
import { areLettersOn, chooseLetters } from "../../app/keys.js"
import { queryClient } from "../../app/queries.js"
import { chooseTheme, type Theme, useTheme } from "../../app/theme.js"
import { accountText, appearanceText } from "../../texts/account.js"
import { Field, Select, Switch } from "../../ui/forms/Field.js"
import { Section } from "../../ui/page/Page.js"
import { ErrorState, SkeletonLines } from "../../ui/page/States.js"
import { notify, notifyError } from "../../ui/floating/Toast.js"
import { SettingsFrame } from "./SettingsFrame.js"

const settingsKey = ["me", "appearance"]

const themes: ReadonlyArray<readonly [theme: Theme, label: string, stored: string]> = [
  ["light", appearanceText.light, "light"],
  ["dark", appearanceText.dark, "dark"],
  ["system", appearanceText.system, "auto"]
]

const usualFont = "geist-mono"

/** The colours and the terminal's font. The server keeps both for the user's other programs. */
export const Appearance = () => {
  const theme = useTheme()
  const [hasLetters, setLetters] = useState(areLettersOn)
  const { data, error, isLoadingError, refetch } = useQuery({
    queryKey: settingsKey,
    queryFn: ({ signal }) => personalSettings.getAppearance(client, { user: "me" }, { signal })
  })
  const font = data === undefined || data.terminal_font === "" ? usualFont : data.terminal_font
  const save = useMutation({
    mutationFn: async (chosen: { readonly theme: Theme; readonly font: string }) => {
      const stored = themes.find(([theme]) => theme === chosen.theme)?.[2] ?? "auto"
      const body = { theme_preference: stored, terminal_font: chosen.font }
      queryClient.setQueryData(settingsKey, await personalSettings.updateAppearance(client, { user: "me", body }))
      notify(accountText.saved)
    },
    onError: notifyError
  })

  return (
    <SettingsFrame title={accountText.appearance}>
      <Section title={appearanceText.theme} description={appearanceText.themeDescription}>
        <fieldset className="account-choices">
          <legend className="visually-hidden">{appearanceText.theme}</legend>
          {themes.map(([value, label]) => (
            <label key={value} className="check">
              <input
                type="radio"
                name="theme"
                checked={theme === value}
                onChange={() => {
                  chooseTheme(value)
                  // Before the settings are here, the font that is stored is not known
                  if (data !== undefined) save.mutate({ theme: value, font })
                }}
              />
              <span className="check-label">{label}</span>
            </label>
          ))}
        </fieldset>
      </Section>
      <Section title={appearanceText.keys} description={appearanceText.keysDescription}>
        <Switch
          label={appearanceText.letters}
          hint={appearanceText.lettersHint}
          checked={hasLetters}
          onChange={(event) => {
            chooseLetters(event.target.checked)
            setLetters(event.target.checked)
          }}
        />
      </Section>
      <Section title={appearanceText.font} description={appearanceText.fontDescription}>
        {isLoadingError ? (
          <ErrorState error={error} onRetry={refetch} />
        ) : data === undefined ? (
          <SkeletonLines count={1} />
        ) : (
          <div className="account-form">
            <Field label={appearanceText.font}>
              <Select
                value={font}
                onChange={(event) => save.mutate({ theme, font: event.target.value })}
                choices={Object.entries(appearanceText.fonts).map(([value, label]) => ({ value, label }))}
              />
            </Field>
          </div>
        )}
      </Section>
    </SettingsFrame>
  )
}
