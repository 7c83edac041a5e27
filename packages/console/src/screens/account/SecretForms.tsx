/** The forms of the user's secrets: one secret, and many from a text. */
import type { SecretsFileFormat, UserSecret } from "@atelier/client"
import * as userSecrets from "@atelier/client/userSecrets"
import { useState } from "react"
import { client } from "../../app/client.js"
import { accountText, secretsText } from "../../texts/account.js"
import { Button } from "../../ui/forms/Button.js"
import { Checkbox, Field, Input, SecretInput, Select, TextArea } from "../../ui/forms/Field.js"
import { Form, FormActions, SubmitButton } from "../../ui/forms/Form.js"
import { textIn } from "./textIn.js"

interface SecretFormProps {
  /** The secret that is changed; absent for a new one. */
  readonly secret?: UserSecret | undefined
  readonly onClose: () => void
  readonly onDone: (name: string) => Promise<void>
}

/** A name that a variable can have: most secrets are variables of the same name. */
const isVariable = (name: string): boolean => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name)

export const SecretForm = ({ onClose, onDone, secret }: SecretFormProps) => {
  const [name, setName] = useState("")
  const [typedVariable, setVariable] = useState<string | undefined>()
  const variable = typedVariable ?? secret?.env_name ?? (isVariable(name.trim()) ? name.trim() : "")
  return (
    <Form
      onSubmit={async (form) => {
        const value = textIn(form, "value")
        const body = {
          description: textIn(form, "description"),
          env_name: textIn(form, "env_name").trim(),
          file_path: textIn(form, "file_path").trim(),
          enabled: form.get("enabled") !== null
        }
        if (secret === undefined) await userSecrets.createUserSecret(client, { user: "me", body: { ...body, name: name.trim(), value } })
        else
          await userSecrets.updateUserSecret(client, {
            user: "me",
            name: secret.name,
            body: value === "" ? body : { ...body, value }
          })
        await onDone(secret?.name ?? name.trim())
      }}
    >
      {secret === undefined ? (
        <Field label={secretsText.name} name="name" hint={secretsText.nameHint}>
          <Input value={name} onChange={({ target }) => setName(target.value)} spellCheck={false} autoCapitalize="off" autoFocus />
        </Field>
      ) : null}
      <Field label={secretsText.value} name="value" hint={secret === undefined ? undefined : secretsText.valueKept}>
        <SecretInput className="mono" spellCheck={false} autoComplete="new-password" autoFocus={secret !== undefined} />
      </Field>
      <Field label={secretsText.variable} name="env_name" hint={secretsText.variableHint} isOptional>
        <Input
          className="mono"
          value={variable}
          onChange={({ target }) => setVariable(target.value)}
          spellCheck={false}
          autoCapitalize="off"
        />
      </Field>
      <Field label={secretsText.file} name="file_path" hint={secretsText.fileHint} isOptional>
        <Input className="mono" defaultValue={secret?.file_path} spellCheck={false} autoCapitalize="off" />
      </Field>
      <Field label={secretsText.about} name="description" isOptional>
        <Input defaultValue={secret?.description} />
      </Field>
      <Checkbox label={secretsText.isOn} hint={secretsText.isOnHint} name="enabled" defaultChecked={secret?.enabled ?? true} />
      <FormActions>
        <Button onClick={onClose}>{accountText.cancel}</Button>
        <SubmitButton>{secret === undefined ? secretsText.add : accountText.save}</SubmitButton>
      </FormActions>
    </Form>
  )
}

/** Bytes of the largest text that the service takes. */
const maximumFile = 1024 * 1024

const formatOf = (fileName: string): SecretsFileFormat => (/\.json$/i.test(fileName) ? "json" : /\.ya?ml$/i.test(fileName) ? "yaml" : "env")

interface ImportFormProps {
  readonly onClose: () => void
  readonly onDone: (count: number) => Promise<void>
}

export const ImportForm = ({ onClose, onDone }: ImportFormProps) => {
  const [format, setFormat] = useState<SecretsFileFormat>("env")
  const [content, setContent] = useState("")
  const [problem, setProblem] = useState<string | undefined>()
  const choose = async (file: File | undefined): Promise<void> => {
    if (file === undefined) return
    if (file.size > maximumFile) return setProblem(secretsText.fileTooLarge)
    try {
      setContent(await file.text())
    } catch {
      return setProblem(secretsText.fileUnreadable)
    }
    setFormat(formatOf(file.name))
    setProblem(undefined)
  }
  return (
    <Form
      onSubmit={async () => {
        const made = await userSecrets.importUserSecrets(client, { user: "me", body: { format, content } })
        await onDone(made.length)
      }}
    >
      <Field label={secretsText.fromFile} hint={secretsText.fromFileHint} error={problem} isOptional>
        <Input type="file" onChange={({ target }) => void choose(target.files?.[0])} />
      </Field>
      <Field label={secretsText.format} name="format">
        <Select
          value={format}
          onChange={({ target: { value } }) => setFormat(value === "json" || value === "yaml" ? value : "env")}
          choices={secretsText.formats}
        />
      </Field>
      <Field label={secretsText.content} name="content">
        <TextArea
          className="mono"
          rows={8}
          spellCheck={false}
          // Browsers keep other texts on the disk, to restore the page
          autoComplete="off"
          placeholder={secretsText.examples[format]}
          value={content}
          onChange={({ target }) => setContent(target.value)}
        />
      </Field>
      <FormActions>
        <Button onClick={onClose}>{accountText.cancel}</Button>
        <SubmitButton disabled={content.trim() === ""}>{secretsText.importAction}</SubmitButton>
      </FormActions>
    </Form>
  )
}
