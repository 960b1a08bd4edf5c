//! ros2_program DOMAIN ROLE NAME: a ROS 2 program with the crate ros2-client. It runs until killed.
//!
//! Roles: talker publishes numbers on the topic NAME. listener prints the messages of the topic.
//! client calls the service NAME repeatedly and prints the replies. server replies to the service
//! NAME and prints the requests.

use std::{env, process::exit, thread::sleep, time::Duration};

use ros2_client::{
    qos::History, qos::WhenFull, Context, ContextOptions, Message, MessageTypeName, Name, Node,
    NodeName, NodeOptions, QosProfile, ServiceMapping, ServiceTypeName,
};
use serde::{Deserialize, Serialize};

const PAUSE: Duration = Duration::from_millis(20);

#[derive(Clone, Debug, Serialize, Deserialize)]
struct SetBoolRequest {
    data: bool,
}
impl Message for SetBoolRequest {}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct SetBoolResponse {
    success: bool,
    message: String,
}
impl Message for SetBoolResponse {}

type Outcome = Result<(), Box<dyn std::error::Error>>;

fn qos() -> QosProfile {
    QosProfile::publisher_default()
        .reliability_reliable(WhenFull::DEFAULT)
        .history(History::KeepLast { depth: 100 })
}

fn talk(node: &mut Node, name: &Name) -> Outcome {
    let topic = node.create_topic(name, MessageTypeName::new("std_msgs", "String"), &qos())?;
    let publisher = node.create_publisher::<String>(&topic, None)?;
    for count in 0.. {
        publisher.publish(count.to_string())?;
        sleep(PAUSE);
    }
    Ok(())
}

fn listen(node: &mut Node, name: &Name) -> Outcome {
    let topic = node.create_topic(name, MessageTypeName::new("std_msgs", "String"), &qos())?;
    let subscription = node.create_subscription::<String>(&topic, None)?;
    loop {
        while let Some((text, _)) = subscription.take()? {
            println!("{text}");
        }
        sleep(PAUSE);
    }
}

fn set_bool() -> ServiceTypeName {
    ServiceTypeName::new("std_srvs", "SetBool")
}

fn ask(node: &mut Node, name: &Name) -> Outcome {
    let mapping = ServiceMapping::Enhanced;
    let client = node.create_client::<SetBoolRequest, SetBoolResponse>(
        mapping,
        name,
        &set_bool(),
        qos(),
        qos(),
    )?;
    loop {
        let asked = client.send_request(SetBoolRequest { data: true })?;
        for _ in 0..25 {
            sleep(PAUSE);
            if let Some((answered, answer)) = client.receive_response()? {
                if answered == asked {
                    println!("{} {}", answer.success, answer.message);
                    break;
                }
            }
        }
    }
}

fn serve(node: &mut Node, name: &Name) -> Outcome {
    let mapping = ServiceMapping::Enhanced;
    let server = node.create_server::<SetBoolRequest, SetBoolResponse>(
        mapping,
        name,
        &set_bool(),
        qos(),
        qos(),
    )?;
    loop {
        while let Some((id, request)) = server.receive_request()? {
            println!("{}", request.data);
            let message = "from ros2-client".to_string();
            server.send_response(
                id,
                SetBoolResponse {
                    success: !request.data,
                    message,
                },
            )?;
        }
        sleep(PAUSE);
    }
}

fn run(words: &[String]) -> Outcome {
    let [domain, role, name] = words else {
        return Err("ros2_program DOMAIN talker|listener|client|server NAME".into());
    };
    let context = Context::with_options(ContextOptions::new().domain_id(domain.parse()?))?;
    let mut node = context.new_node(
        NodeName::new("/", &format!("rust_{role}"))?,
        NodeOptions::new(),
    )?;
    let spinner = node.spinner()?;
    std::thread::spawn(move || futures::executor::block_on(spinner.spin()));
    let name = Name::new("/", name)?;
    println!("ready");
    match role.as_str() {
        "talker" => talk(&mut node, &name),
        "listener" => listen(&mut node, &name),
        "client" => ask(&mut node, &name),
        "server" => serve(&mut node, &name),
        _ => Err(format!("'{role}' is not a role, use talker, listener, client or server").into()),
    }
}

fn main() {
    let words: Vec<String> = env::args().skip(1).collect();
    if let Err(error) = run(&words) {
        eprintln!("ros2_program: {error}");
        exit(1);
    }
}
