import type * as HttpApi from "@effect/platform/HttpApi"
import type * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import type * as HttpApiGroup from "@effect/platform/HttpApiGroup"

/** The same API with each endpoint changed in what the types of an API do not show: how values are encoded. */
export const mapEndpoints = <Id extends string, Groups extends HttpApiGroup.HttpApiGroup.Any, E, R>(
  api: HttpApi.HttpApi<Id, Groups, E, R>,
  change: (endpoint: HttpApiEndpoint.HttpApiEndpoint.AnyWithProps) => HttpApiEndpoint.HttpApiEndpoint.AnyWithProps
): HttpApi.HttpApi<Id, Groups, E, R> => {
  const groups: Array<HttpApiGroup.HttpApiGroup.AnyWithProps> = Object.values(api.groups as Record<string, never>)
  const changed: HttpApi.HttpApi.AnyWithProps = groups.reduce(
    (result: HttpApi.HttpApi.AnyWithProps, group) =>
      result.add(Object.values(group.endpoints).reduce((into, endpoint) => into.add(change(endpoint)), group)),
    api as unknown as HttpApi.HttpApi.AnyWithProps
  )
  // Only encodings differ, which the library's type of an API does not describe
  return changed as unknown as HttpApi.HttpApi<Id, Groups, E, R>
}
