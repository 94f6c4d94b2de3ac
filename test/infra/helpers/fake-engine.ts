import * as grpc from "@grpc/grpc-js";
import emptyProto from "google-protobuf/google/protobuf/empty_pb.js";
import structProto from "google-protobuf/google/protobuf/struct_pb.js";
import callbackGrpc from "@pulumi/pulumi/proto/callback_grpc_pb.js";
import callbackProto from "@pulumi/pulumi/proto/callback_pb.js";
import engineGrpc from "@pulumi/pulumi/proto/engine_grpc_pb.js";
import engineProto from "@pulumi/pulumi/proto/engine_pb.js";
import resourceGrpc from "@pulumi/pulumi/proto/resource_grpc_pb.js";
import resourceProto from "@pulumi/pulumi/proto/resource_pb.js";
import { fakeOutputs } from "./fake-outputs.ts";
import type { Graph, GraphResource, Inputs } from "./graph.ts";
import { readInputs } from "./read-value.ts";

export type EngineOptions = {
  project: string;
  stack: string;
  phase: Graph["phase"];
  /** Whether an update runs the hooks that precede a resource's creation. */
  runsHooks: boolean;
};

export type FakeEngine = {
  address: string;
  resources: GraphResource[];
  invocations: Graph["invocations"];
  outputs(): Inputs;
  messages: string[];
  /** The URNs of the resources that a hook prevented, each with the hook's error. */
  failures: string[];
  close(): void;
};

/**
 * Starts the part of Pulumi's engine that the language host needs. A registration returns the inputs, and in an
 * update also the fake outputs of an AWS resource.
 */
export async function startFakeEngine(options: EngineOptions): Promise<FakeEngine> {
  const { project, stack, phase } = options;
  const resources: GraphResource[] = [];
  const invocations: Graph["invocations"] = [];
  const messages: string[] = [];
  const failures: string[] = [];
  const hooks = new Map<string, callbackProto.Callback>();
  let outputs: Inputs = {};
  let root = "";

  const monitor: grpc.UntypedServiceImplementation = {
    getDeploymentInfo: unary<Empty, resourceProto.DeploymentInfo>(() => {
      const info = new resourceProto.DeploymentInfo();
      const features = Object.values(resourceProto.ResourceMonitorFeature);
      info.setSupportedfeaturesList(features.filter((feature) => typeof feature === "number"));
      return info;
    }),
    invoke: unary<resourceProto.ResourceInvokeRequest, resourceProto.ResourceInvokeResponse>((request) => {
      const token = request.getTok();
      invocations.push({ token, provider: request.getProvider() });
      const answer = answers[token];
      if (!answer) throw new Error(`The fake engine does not know ${token}.`);
      const response = new resourceProto.ResourceInvokeResponse();
      response.setReturn(structProto.Struct.fromJavaScript(answer));
      return response;
    }),
    registerResource: unary<resourceProto.RegisterResourceRequest, resourceProto.RegisterResourceResponse>(
      async (request) => {
        const resource = readResource(request, { project, stack });
        if (resources.some(({ urn }) => urn === resource.urn)) throw new Error(`Twice: ${resource.urn}`);
        const inputs = request.getObject()?.toJavaScript() ?? {};
        if (phase === "update" && options.runsHooks) {
          for (const hook of resource.hooks.beforeCreate) {
            const problem = await runHook(hooks.get(hook), resource, inputs);
            if (problem === "") continue;
            failures.push(`${resource.urn}: ${problem}`);
            throw Object.assign(new Error(problem), { code: grpc.status.UNAVAILABLE });
          }
        }
        resources.push(resource);
        const response = new resourceProto.RegisterResourceResponse();
        response.setUrn(resource.urn);
        const isMade = resource.isCustom && phase === "update";
        const made = isMade ? fakeOutputs(resource.type, resource.name, inputs) : { id: "", outputs: {} };
        response.setId(made.id);
        response.setObject(structProto.Struct.fromJavaScript({ ...inputs, ...made.outputs } as Json));
        return response;
      },
    ),
    registerResourceOutputs: unary<resourceProto.RegisterResourceOutputsRequest, Empty>((request) => {
      if (request.getUrn() === root) outputs = readInputs(request.getOutputs()?.toJavaScript() ?? {});
      return new emptyProto.Empty();
    }),
    registerResourceHook: unary<resourceProto.RegisterResourceHookRequest, Empty>((request) => {
      const callback = request.getCallback();
      if (request.getOnDryRun()) throw new Error(`${request.getName()} would run in previews.`);
      if (callback) hooks.set(request.getName(), callback);
      return new emptyProto.Empty();
    }),
    signalAndWaitForShutdown: unary<Empty, Empty>(() => new emptyProto.Empty()),
  };
  const engine: grpc.UntypedServiceImplementation = {
    log: unary<engineProto.LogRequest, Empty>((request) => {
      if (request.getSeverity() !== engineProto.LogSeverity.DEBUG) messages.push(request.getMessage());
      return new emptyProto.Empty();
    }),
    getRootResource: unary<Empty, engineProto.GetRootResourceResponse>(() => {
      const response = new engineProto.GetRootResourceResponse();
      response.setUrn(root);
      return response;
    }),
    setRootResource: unary<engineProto.SetRootResourceRequest, engineProto.SetRootResourceResponse>(
      (request) => {
        root = request.getUrn();
        return new engineProto.SetRootResourceResponse();
      },
    ),
  };

  const server = new grpc.Server();
  server.addService(resourceGrpc.ResourceMonitorService, monitor);
  server.addService(engineGrpc.EngineService, engine);
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const credentials = grpc.ServerCredentials.createInsecure();
  server.bindAsync("127.0.0.1:0", credentials, (error, port) => (error ? reject(error) : resolve(port)));
  const address = `127.0.0.1:${await promise}`;
  return {
    address,
    resources,
    invocations,
    messages,
    failures,
    outputs: () => outputs,
    close: () => server.forceShutdown(),
  };
}

type Empty = emptyProto.Empty;
type Json = Parameters<typeof structProto.Struct.fromJavaScript>[0];

function unary<Request, Response>(
  answer: (request: Request) => Response | Promise<Response>,
): grpc.UntypedHandleCall {
  const handle: grpc.handleUnaryCall<Request, Response> = async (call, callback) => {
    try {
      callback(null, await answer(call.request));
    } catch (error) {
      callback(error as grpc.ServiceError);
    }
  };
  return handle;
}

const answers: Record<string, Json> = {
  "aws:index/getAvailabilityZones:getAvailabilityZones": {
    id: "eu-central-1",
    names: ["eu-central-1a", "eu-central-1b", "eu-central-1c"],
  },
};

type Place = { project: string; stack: string };

function readResource(
  request: resourceProto.RegisterResourceRequest,
  { project, stack }: Place,
): GraphResource {
  const type = request.getType();
  const name = request.getName();
  const parent = request.getParent();
  const parentType = parent.split("::")[2] ?? "";
  const chain = parentType === "" || parentType === "pulumi:pulumi:Stack" ? type : `${parentType}$${type}`;
  const dependencies = [...request.getPropertydependenciesMap().entries()].map(
    ([property, value]): [string, string[]] => [property, value.getUrnsList().toSorted()],
  );
  const binding = request.getHooks();
  return {
    urn: `urn:pulumi:${stack}::${project}::${chain}::${name}`,
    type,
    name,
    isCustom: request.getCustom(),
    parent,
    provider: request.getProvider(),
    isProtected: request.getProtect() ?? false,
    dependencies: request.getDependenciesList().toSorted(),
    propertyDependencies: Object.fromEntries(dependencies.filter(([, urns]) => urns.length > 0).toSorted()),
    ignoreChanges: request.getIgnorechangesList(),
    hooks: {
      beforeCreate: binding?.getBeforeCreateList() ?? [],
      beforeUpdate: binding?.getBeforeUpdateList() ?? [],
    },
    inputs: readInputs(request.getObject()?.toJavaScript() ?? {}),
  };
}

/** Returns an empty string on success, otherwise the hook's error. */
function runHook(
  callback: callbackProto.Callback | undefined,
  { urn, name, type }: GraphResource,
  inputs: object,
): Promise<string> {
  if (!callback) return Promise.resolve("the hook was not registered");
  const hook = new resourceProto.ResourceHookRequest();
  hook.setUrn(urn).setName(name).setType(type);
  hook.setNewInputs(structProto.Struct.fromJavaScript(inputs as Json));
  const request = new callbackProto.CallbackInvokeRequest();
  request.setToken(callback.getToken()).setRequest(hook.serializeBinary());
  const client = new callbackGrpc.CallbacksClient(callback.getTarget(), grpc.credentials.createInsecure());
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  client.invoke(request, (error, response) => {
    client.close();
    if (error) return reject(error);
    const bytes = response.getResponse_asU8();
    resolve(resourceProto.ResourceHookResponse.deserializeBinary(bytes).getError());
  });
  return promise;
}
