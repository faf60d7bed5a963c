//! The list of all algorithms.

use crate::contract::{Aqm, Port};
use crate::discipline::Discipline;
use crate::user_defined;

aqms! {
    one queue {
        droptail::DropTail,
        red::Red,
        ared::Ared,
        dtared::Dtared,
        feng::Feng,
        nlred::Nlred,
        wred::Wred,
        pi::Pi,
        pi2::Pi2,
        pie::Pie,
        rem::Rem,
        lred::Lred,
        avq::Avq,
        raqm::Raqm,
        step::Step,
        codel::Codel,
        blue::Blue,
        cobalt::Cobalt,
        fred::Fred,
        sred::Sred,
        sfb::Sfb,
        headdrop::HeadDrop,
        choke::Choke,
        jobs_ecn::JobsEcn,
    }
    several queues {
        fq::Fq,
        jobs::Jobs,
        dualpi2::DualPi2,
        lld::Lld,
        curvyred::CurvyRed,
        redtail::Redtail,
        sfq::Sfq,
        cake::Cake,
        cake_mq::CakeMq,
        tbf::Tbf,
        prio::Prio,
        drr_classes::DrrClasses,
        htb::Htb,
        police::Police,
    }
    variants {
        gred = "red" with "floyd2000",
        gredi = "red" with "gred-i",
        pistar = "pi" with "pi-star",
        fq_codel = "fq" with "codel",
        fq_pie = "fq" with "pie",
        drr = "fq" with "droptail",
    }
    $
}
