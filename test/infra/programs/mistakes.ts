import aws from "@pulumi/aws";

/* What people do wrong most with unknown values, for the tests of the checks that look for it. */
const topic = new aws.sns.Topic("first");

// A preview cannot know what this makes, so it shows nothing.
topic.arn.apply((arn) => new aws.sns.Topic("inside", { displayName: arn.slice(0, 10) }));

// An output is no text: this one reads "Calling [toString] on an [Output<T>] is not supported".
new aws.sns.Topic("second", { displayName: `after ${String(topic.arn)}` });
