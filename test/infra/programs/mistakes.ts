import aws from "@pulumi/aws";

/* Common mistakes with unknown values, for tests of the checks that detect them. */
const topic = new aws.sns.Topic("first");

// A preview skips the callback, so only an update registers this resource.
topic.arn.apply((arn) => new aws.sns.Topic("inside", { displayName: arn.slice(0, 10) }));

// The text of an output starts with "Calling [toString] on an [Output<T>] is not supported".
new aws.sns.Topic("second", { displayName: `after ${String(topic.arn)}` });
