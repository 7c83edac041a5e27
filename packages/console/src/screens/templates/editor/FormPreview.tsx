/** The form of a version, as users fill it in. */
import { useMe } from "../../../app/session.js"
import { sourceText } from "../../../texts/templates.js"
import { ParameterFields } from "../../create/ParameterFields.js"
import { useParameterForm } from "../../create/parameterForm.js"

export const FormPreview = ({ version }: { readonly version: string }) => {
  const me = useMe()
  const form = useParameterForm({ version, owner: me.id, initial: {} })
  return (
    <div className="te-form">
      <p className="faint">{sourceText.preview}</p>
      <ParameterFields form={form} />
    </div>
  )
}
