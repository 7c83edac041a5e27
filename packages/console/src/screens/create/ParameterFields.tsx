/** The fields of a template's form, and what is known about it as a whole. */
import type { PreviewParameter } from "@atelier/client"
import { createText } from "../../texts/create.js"
import { Callout } from "../../ui/page/Callout.js"
import { ErrorState, SkeletonLines } from "../../ui/page/States.js"
import { ParameterField } from "./ParameterField.js"
import { type ParameterForm, valueOf } from "./parameterForm.js"

interface Props {
  readonly form: ParameterForm
  /** The parameters that can be read and not changed; default none. */
  readonly isFixed?: (parameter: PreviewParameter) => boolean
}

export const ParameterFields = ({ form, isFixed = () => false }: Props) => {
  const { diagnostics, error, isLost, isPending, parameters, retry, set, values } = form
  return (
    <>
      {isLost ? <Callout kind="warning" title={createText.lost} /> : null}
      {diagnostics.map(({ detail, severity, summary }) => (
        <Callout key={`${summary} ${detail}`} kind={severity} title={summary}>
          {detail}
        </Callout>
      ))}
      {error !== undefined ? (
        <ErrorState error={error} onRetry={retry} />
      ) : isPending ? (
        <SkeletonLines count={5} />
      ) : parameters.length === 0 ? (
        <p className="muted">{createText.noParameters}</p>
      ) : (
        parameters.map((parameter) => (
          <ParameterField
            key={parameter.name}
            parameter={parameter}
            value={valueOf(parameter, values)}
            isDisabled={isFixed(parameter)}
            isTouched={parameter.name in values}
            onChange={(value) => set(parameter.name, value)}
          />
        ))
      )}
    </>
  )
}
